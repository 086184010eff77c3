// Sort it.
function f1() { return 1; }

/// Sort it.
/// In place.
function f2() { return 1; }

/* Sort it. */
function f3() { return 1; }

/**
 * Sort it.
 *
 * @param x a list
 */
function f4() { return 1; }

/*! Sort it. */
function f5() { return 1; }

/// # Examples
/// a[b[1]]
function f6() { return 1; }

/* Sort a[b[1]] */
function f7() { return 1; }

/** @brief Sort it. */
function f8() { return 1; }

/// \brief Sort it.
function f9() { return 1; }

//////////
function f10() { return 1; }

/* ----- */
function f11() { return 1; }

/**/
function f12() { return 1; }

/***/
function f13() { return 1; }

/********
 ********/
function f14() { return 1; }

// =====
function f15() { return 1; }

//////////
// Sort it.
//////////
function f16() { return 1; }

/*************
 * Sort it.  *
 *************/
function f17() { return 1; }

// ---- Sorting ----
function f18() { return 1; }

//===-- Sorting --------===//
function f19() { return 1; }

// eslint-disable-next-line no-eval
function f20() { return 1; }

//go:noinline
function f21() { return 1; }

/* istanbul ignore next */
function f22() { return 1; }
