cfg_rt! {
    /// Goes up.
    pub trait Sails {
        fn hoist(&self) -> u32 { 1 }
    }
    impl Sails for u8 {
        fn hoist(&self) -> u32 { '{'; "}"; 2 }
    }
}
cfg_if::cfg_if! {
    if #[cfg(all(unix, not(test)))] {
        fn on_unix() {}
    } else if #[cfg(windows)] {
        fn on_windows() {}
    } else {
        fn on_other() {}
    }
}
bitflags! {
    #[derive(Debug)]
    pub struct Flags: u32 {
        const A = 1;
    }
}
lazy_static! { static ref TABLE: Vec<u8> = {
        vec![]
    };
}
fn body() {
    tokio::select! { a = x() => { b } }
    let template = quote! {
        fn not_here() {}
    };
}
extern "C" { fn free(p: *mut u8); }
