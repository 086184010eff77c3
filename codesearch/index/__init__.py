"""Documents on disk: a writer and a reader for each structure, and the build that ties them."""
