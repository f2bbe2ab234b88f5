//! Random words that nobody can guess, and the proof that we know one (RFC 7636).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::{AuthError, Secret};

#[cfg(test)]
mod tests;

/// 256 random bits, written with 43 letters that need no escaping anywhere.
pub(super) fn random_word() -> Result<String, AuthError> {
    let mut bytes = [0u8; 32];
    // The source that TLS takes its keys from.
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut bytes).map_err(|_| AuthError::NoRandom)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The word that is kept to ourselves until a code is exchanged.
pub(super) fn verifier() -> Result<Secret, AuthError> {
    random_word().map(Secret::new)
}

/// What is told about it before: its SHA-256.
pub(super) fn challenge(verifier: &Secret) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.reveal().as_bytes()))
}
