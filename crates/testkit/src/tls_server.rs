//! A server on loopback that proves to be somebody else: its certificate is good, and for `other.example`.
//!
//! The certificate and its key are fixtures that nothing trusts but a test that names the root; the root's own key was
//! thrown away.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};

/// Listens until it is dropped, and answers nothing: whoever checks the name never gets to ask.
pub struct WrongHostServer {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl WrongHostServer {
    /// Listens on a free port of 127.0.0.1.
    pub fn start() -> io::Result<Self> {
        let fixture = |name: &str| std::fs::read(folder().join(name));
        let certificate = CertificateDer::from_pem_slice(&fixture("other.pem")?).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from_pem_slice(&fixture("other.key")?).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .map_err(io::Error::other)?;
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (address, config) = (listener.local_addr()?, Arc::new(config));
        let (asked, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (asked.clone(), over.clone());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(mut socket), Ok(mut connection)) = (socket, ServerConnection::new(config.clone()))
                else {
                    continue;
                };
                let mut first = [0; 1];
                // A client that refuses us closes the connection before it says anything.
                if io::Read::read(&mut Stream::new(&mut connection, &mut socket), &mut first)
                    .is_ok_and(|n| n > 0)
                {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        Ok(Self { address, asked, over })
    }

    /// `https://localhost:PORT`, which the certificate is not for.
    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    /// The root that signed the certificate, as a file for `SSL_CERT_FILE`.
    pub fn root(&self) -> PathBuf {
        folder().join("ca.pem")
    }

    /// How many clients said anything in spite of the name.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for WrongHostServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread. If nobody answers any more it is gone already.
        let _ = std::net::TcpStream::connect(self.address);
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls")
}
