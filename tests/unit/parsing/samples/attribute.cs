class A {
#if DEBUG // not here
 [Obsolete("x")]
#endif
 public int? Size => size;
}
