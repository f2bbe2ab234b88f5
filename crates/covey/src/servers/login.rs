//! `covey mcp login`: OAuth with a server behind an address.

use std::sync::Arc;
use std::time::Duration;

use mcp::Login;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::tokens::{KeptLogin, forget};
use super::{failure, known};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, print, tell};

/// How long a person may take in their browser.
const PATIENCE: Duration = Duration::from_secs(300);
const MAX_LINE: u64 = 16 * 1024;

pub(super) async fn login(name: &str) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let known = known(&settings)?;
    let url = known.get(name).filter(|known| !known.is_held).and_then(|known| known.config.url.clone());
    let Some(url) = url else {
        return Err(Failure::usage(format!("there is no server `{name}` behind an address"))
            .hint("covey mcp list; a program logs in by itself"));
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let redirect = format!("http://127.0.0.1:{}/callback", listener.local_addr()?.port());
    let tokens = Arc::new(KeptLogin::new(settings.secrets()?, name, &url));
    let (login, address) = Login::begin(name, &url, &redirect, tokens).await.map_err(failure)?;
    let style = Style::of(Stream::Err);
    tell(&format!(
        "open this in your browser, if it does not open by itself:\n  {}\n",
        style.accent(&address)
    ));
    crate::login::open_browser(&address);
    let callback = tokio::select! {
        callback = tokio::time::timeout(PATIENCE, callback(&listener, &redirect)) => match callback {
            Ok(callback) => callback?,
            Err(_) => {
                let failure = Failure::new("nobody came back from the browser");
                return Err(Failure { exit: Exit::Limit, ..failure });
            }
        },
        _ = tokio::signal::ctrl_c() => return Ok(Exit::Cancelled),
    };
    login.finish(&callback).await.map_err(failure)?;
    print(&format!("logged in to `{name}`\n"))?;
    Ok(Exit::Done)
}

pub(super) fn logout(name: &str) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let found = forget(settings.secrets()?.as_ref(), name)
        .map_err(|error| Failure::new(error.to_string()).hint(error.hint()))?;
    print(&match found {
        true => format!("forgot the login at `{name}`\n"),
        false => format!("there is no login at `{name}`\n"),
    })?;
    Ok(Exit::Done)
}

/// Waits for the browser to come back. Whoever else knocks is sent away.
async fn callback(listener: &TcpListener, redirect: &str) -> Result<String, Failure> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let mut line = String::new();
        let (read, mut write) = stream.split();
        let mut read = BufReader::new(tokio::io::AsyncReadExt::take(read, MAX_LINE));
        // All of what it asks: a stream that is closed with something unread in it takes the answer with it.
        let request = async {
            read.read_line(&mut line).await?;
            let mut header = String::new();
            while read.read_line(&mut header).await? > 2 {
                header.clear();
            }
            Ok::<_, std::io::Error>(())
        };
        let in_time = tokio::time::timeout(Duration::from_secs(5), request).await;
        let target = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let is_callback = matches!(in_time, Ok(Ok(_))) && target.starts_with("/callback?");
        let (status, text) = match is_callback {
            true => ("200 OK", "You are logged in. You can close this page."),
            false => ("404 Not Found", "There is nothing here."),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        // A browser that left has come back all the same.
        let _ = write.write_all(answer.as_bytes()).await;
        let _ = write.shutdown().await;
        if is_callback {
            let query = target.split_once('?').map(|(_, query)| query).unwrap_or_default();
            return Ok(format!("{redirect}?{query}"));
        }
    }
}
