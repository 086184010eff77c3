class Cfg {
    val names = listOf(
        "a",
        "b",
    )
    val price: Int by lazy {
        compute()
    }
    var age: Int = 0
        set(value) {
            field = value
        }
    val small = 1
    var both: Int
        get() = 1
        set(value) { }
    companion object {
        val ALL = listOf(
            1,
        )
        const val ONE = 1
    }
}
object Reg { val handlers = mapOf(
    1 to 2) }
interface Named {
    val name: String
}
enum class Colour {
    RED,
    GREEN;

    val x = 1
}
data class P(val a: Int, var b: String = "x", c: Int)

class Started {
    fun run() { }
    init {
        run()
    }
}
val String.half: Int get() = length / 2

val ticker = object : Runnable {
  override fun run() { go() }
}

class Short { fun a() { log() } fun b() = 1 }

/** Delicate. */
@MustBeDocumented
@RequiresOptIn(
  level = Level.WARNING,
  message = "Delicate (very)"
)
public annotation class Delicate

@Deprecated("old")
@Suppress("x")
internal fun Response.complete() {
  done()
}
