class Routes {
    fun shown() {
        val service by inject<Service>()
        get("/a") {
            call()
        }
    }
    fun changed() {
        val update = { 1 }

        set() shouldBe update()
    }
    val size: Int
        get() = 1
}
