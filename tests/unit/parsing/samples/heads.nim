  Shape* = ref object of RootObj
        1

proc `+`(a, b: V): V = a
        1

iterator items*(a: Seq): int =
        1
