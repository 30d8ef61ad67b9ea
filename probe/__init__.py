"""Run a network and record everything. Nothing discrete happens here."""
