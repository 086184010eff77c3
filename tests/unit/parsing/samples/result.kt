class Result<out T>
@Published internal constructor(@Published internal val holder: Any?) {
    fun f() { box.value shouldBe suspend { 1 } }
    companion object Key { fun g() = 2 }
}
class Text internal actual constructor(actual val data: Int)
fun either(block: context(Raise<Error>) () -> Int) { block() }
context(log: Logger) @Marked("x") public fun <E> raise(e: E) { log(e) }
fun handler(block: () -> Unit): () -> Unit {
    return { block() }
}
data class Box(@all:Named(1) val value: Int)
