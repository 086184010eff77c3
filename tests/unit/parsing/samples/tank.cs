class Tank {
    public int Fill(int a) {
#if FAST
        for (int i = 0; i < a; i++) {
#elif MEDIUM
        for (int i = 1; i < a; i++) {
#else
        while (a-- > 0) {
#endif
            Pump();
        }
        return a;
    }
    public int Drain(int b) { return b; }
}
