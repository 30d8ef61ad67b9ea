"""The page in the browser: `python app.py`, or `app:server` for a production server such as waitress or gunicorn."""

from stacklens.viz.dashboard.app import new_application

app = new_application()
server = app.server

if __name__ == "__main__":
    app.run(port=8050)
