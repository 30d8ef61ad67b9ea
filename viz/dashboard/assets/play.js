// Playing: a step every so often, from the start once the end is reached, until the end or until it is stopped.

import { part } from "./page.js";

const PLAY = 600; // milliseconds a step

// Returns what starts and stops; `where` says the step and the last one, `go` goes to a step.
export function player(where, go) {
  let playing = null;
  const stop = () => {
    clearInterval(playing);
    playing = null;
    part("play").setAttribute("aria-label", "play");
  };
  return () => {
    if (playing) return stop();
    const [step, last] = where();
    if (step >= last) go(1);
    part("play").setAttribute("aria-label", "stop");
    playing = setInterval(() => {
      go(where()[0] + 1);
      if (where()[0] >= where()[1]) stop();
    }, PLAY);
  };
}
