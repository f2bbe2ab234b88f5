//! Where the login of a server is kept: a private file in the person's data.

use std::io;
use std::path::PathBuf;

use project::Home;

/// The file of one server.
pub struct ServerLogin(PathBuf);

impl ServerLogin {
    /// The server's name has no path in it; whoever took it in made sure.
    pub fn of(home: &Home, server: &str) -> Self {
        Self(home.data_dir().join("mcp").join(format!("{server}.login.json")))
    }
}

impl mcp::Tokens for ServerLogin {
    fn load(&self) -> Option<Vec<u8>> {
        std::fs::read(&self.0).ok()
    }

    fn save(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            project::create_private_dir(folder)?;
        }
        project::write_private_atomic(&self.0, bytes)
    }

    fn clear(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
