//! The crate's own documentation.
use std::fmt;

/// A shape
/// with corners.
#[derive(Debug, Clone)]
pub struct Shape<T> {
    corners: T,
}

pub struct Metres(f64);

impl<T: Copy> Shape<T> {
    /// Make a shape.
    #[inline]
    pub fn new(corners: T) -> Self {
        Shape { corners }
    }
    #[inline] fn first(&self) {}
    fn second(&self) {}
}

impl<'a, T> fmt::Display for Shape<T>
where
    T: Copy,
{
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fn helper() {}
        Ok(())
    }
}

pub trait Area: Sized {
    /// The area.
    fn area(&self) -> f64;
}

mod geo {
    /** Distance between two points. */
    pub(crate) async fn distance<T>(a: T, b: T) -> f64 where T: Into<f64> {
        0.0
    }
}

extern "C" { fn declared_only(a: i32) -> i32; }

/// Square a number.
macro_rules! square {
    ($x:expr) => { $x * $x };
}
