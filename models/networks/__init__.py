"""The networks of the papers: a controller and a stack each."""
