"""Recipe of packages -> trees -> rows -> the train, validation and test partitions."""
