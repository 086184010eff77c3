"""Other engines that hold the documents of many machines. They propose candidates; the ranking is that of `search`."""
