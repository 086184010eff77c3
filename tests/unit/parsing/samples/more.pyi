type Pair[T] = tuple[T, T]
