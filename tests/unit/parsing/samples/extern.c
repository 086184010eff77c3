JNIEXPORT jint JNICALL
Java_a_b(JNIEnv *env) { return 1; }
JNIEXPORT jint JNICALL Java_a_c(JNIEnv *env) { return 1; }
void FTN(load_table)(double *v) { }
int (plus)(int a) { return a; }
PHP_FUNCTION(strlen) { }
SYSCALL_DEFINE3(read, unsigned int, fd, char *, buf) { }
NO_SANITIZE("alignment")
int aligned(int a) { return a; }
PyMODINIT_FUNC PyInit_x(void) { return 0; }
