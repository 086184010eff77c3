class A { int x = 1, y; /** Doc. */ @Column private final String name; static final int MAX = 3;
 enum E { RED, GREEN(1) { int z; }; final int v; } record P(int a, String b) {} @interface M { String value() default ""; } }

class Started {
    void run() { }
    static {
        run(1);
    }
}
String greeting = "hi";

class Timer {
  Runnable tick = new Runnable() {
    public void run() { go(); }
  };
}
