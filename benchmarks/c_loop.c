/* All words up to a length through a pushdown automaton's table, depth first, prefixes shared: the loop to beat.
 *
 * stdin: states letters tops initial longest drop runs, then for every state, letter and top: target pop push, where
 * target is -1 for none and push 0 for nothing; then for every state whether it accepts. A word is accepted in such a
 * state with an empty stack. With drop = 0 every word is visited, those behind a missing transition too; with drop = 1
 * their verdicts are left at 0. The verdicts of all words are kept, a byte each, as they are on the other side.
 * stdout: seconds of every run, then how many words of each length are accepted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 64

typedef struct {
    int32_t target, pop, push;
} Step;

static int states, letters, tops, initial, longest, drop, runs;
static Step *steps;
static uint8_t *accepting, *verdicts[MOST], stack[MOST + 2];

static void walk(int state, int height, int length, uint64_t index)
{
    verdicts[length][index] = accepting[state] && height == 0;
    if (length == longest)
        return;
    const Step *row = steps + ((int64_t)state * letters) * tops + stack[height];
    for (int letter = 0; letter < letters; letter++, row += tops) {
        if (row->target == states && drop)
            continue;
        int under = height - row->pop, above = under + (row->push > 0);
        uint8_t kept = stack[above];
        if (row->push > 0)
            stack[above] = (uint8_t)row->push;
        walk(row->target, above, length + 1, index * letters + letter);
        stack[above] = kept;
    }
}

static int number(void)
{
    int value;
    if (scanf("%d", &value) != 1)
        exit(2);
    return value;
}

static void read_table(void)
{
    states = number(), letters = number(), tops = number(), initial = number();
    longest = number(), drop = number(), runs = number();
    int64_t row = (int64_t)letters * tops;
    steps = calloc((states + 1) * row, sizeof *steps); /* the last row is where missing transitions lead */
    accepting = calloc(states + 1, 1);
    if (longest >= MOST || !steps || !accepting)
        exit(2);
    for (int64_t i = 0; i < (states + 1) * row; i++) {
        Step step = {-1, 0, 0};
        if (i < states * row)
            step.target = number(), step.pop = number(), step.push = number();
        if (step.target < 0)
            step = (Step){states, 0, 0};
        steps[i] = step;
    }
    for (int i = 0; i < states; i++)
        accepting[i] = (uint8_t)number();
}

int main(void)
{
    read_table();
    uint64_t size[MOST];
    for (int n = 0; n <= longest; n++) {
        size[n] = n ? size[n - 1] * letters : 1;
        if (!(verdicts[n] = malloc(size[n])))
            return 2;
    }
    for (int run = 0; run < runs; run++) {
        struct timespec begun, ended;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        for (int n = 0; n <= longest; n++)
            memset(verdicts[n], 0, size[n]);
        walk(initial, 0, 0, 0);
        clock_gettime(CLOCK_MONOTONIC, &ended);
        printf("%.9f ", (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec));
    }
    printf("\n");
    for (int n = 0; n <= longest; n++) {
        uint64_t accepted = 0;
        for (uint64_t i = 0; i < size[n]; i++)
            accepted += verdicts[n][i];
        printf("%llu ", (unsigned long long)accepted);
    }
    printf("\n");
    return 0;
}
