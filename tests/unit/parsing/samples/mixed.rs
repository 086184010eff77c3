fn run() { go(1) }

#[cfg(test)]
mod checks {
    use super::*;

    struct Fake { size: u32 }

    fn helper() { run() }
}

#[cfg(not(test))]
fn outside() { go(2) }

#[cfg(all(test, unix))] fn on_unix() { go(3) }

/// Check it.
#[tokio::test(flavor = "multi_thread")]
// It is slow.
#[ignore]
async fn it_runs() { go(4) }

#[derive(Debug)]
struct Test { size: u32 }

#[test]
