numbers! {
    #[cfg(wide)]
    u128, read_u128 => next_u128
}
impl Reader {
    fn read(&self) -> u32 { 1 }
    fn skip(&self) {}
}
