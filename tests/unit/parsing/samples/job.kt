class Job(val value: Int) {
    fun suspend(): Int = value
    fun inner(data: Int) = start(data)
    suspend fun wake() { val suspend = 3; start(suspend) }
}
enum class Op(val sign: String) {
    ADD("+") { override fun apply(a: Int) = a },
    SUB("-") { override fun apply(a: Int) = -a };

    abstract fun apply(a: Int): Int
}
fun grade(x: Any) = when (x) {
    is Int if x > 1 -> 1
    is String if x.isEmpty() && x != "if" -> 3
    else -> 2
}
context(logger: Logger, db: Map<String, Int>)
fun store(): Int { return 1 }
fun price() = $$"costs $5"
fun last() = 1
