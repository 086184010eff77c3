package a

func one() {
	panic("not implemented")
}

func two() {
	// TODO: everything
}

func three() {
	log("not implemented")
	g()
}
