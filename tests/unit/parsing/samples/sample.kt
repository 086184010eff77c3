package shop.core

/** An order. */
@Serializable
data class Order(val id: Int, val name: String) : Base(id), Printable {
    constructor(id: Int) : this(id, "") {
        println(id)
    }

    /** The total with tax. */
    @Throws(IOException::class)
    override suspend fun total(rate: Double): Double {
        fun round(a: Double) = a
        return round(rate)
    }

    val size: Int
        get() = 1

    companion object {
        /** Parse an order. */
        fun of(text: String): Order = Order(text.toInt())
    }
}

interface Printable { fun print() }

object Registry {
    fun find(key: String): Order? { return null }
}

enum class Colour(val v: Int) {
    RED(1),
    BLUE(2);

    fun hex() = "x"
}

// Say it loudly.
fun String.shout(n: Int): String {
    return this.uppercase()
}

fun <T : Any> Map.Entry<String, List<T>>?.second(): T = this!!.value[1]
