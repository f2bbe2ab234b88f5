//! Stories that need more than one process of ours.

// `cfg(test)` is always true here; it tells clippy that helpers may unwrap.
#[cfg(test)]
mod death;
#[cfg(test)]
mod helper;
#[cfg(test)]
mod ordinary_user;
