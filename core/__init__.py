"""The ground floor: errors, files, numbers, serialisation and progress. It imports nothing of ours."""
