interface One { int f(); }
class Two { int f() { throw new UnsupportedOperationException(); } }
class Three { int f() { return g(); } }
