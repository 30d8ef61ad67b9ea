"""Networks that others trained and published: one format a module, each with a reader and a ``looks_like``."""
