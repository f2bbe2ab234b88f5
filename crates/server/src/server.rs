//! The port: accepting, routing, ending.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit};
use axum::middleware;
use axum::routing::any;
use client::Client;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::access::{Access, Token};
use crate::code_search::CodeSearch;
use crate::door::{self, Names};
use crate::preferences::Preferences;
use crate::roster::Roster;
use crate::submitted::Submitted;
use crate::{assets, rest, socket};

/// Connections at once; whoever comes then waits at the door.
const MAX_CONNECTIONS: usize = 4096;
/// A request's head must be there by then.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
const MAX_HEADERS: usize = 64;
/// Holds the head of a request.
const MAX_HEAD: usize = 64 << 10;
pub(crate) const MAX_BODY: usize = client::wire::MAX_MESSAGE;
/// How long open connections may take to end when the server does.
const GRACE: Duration = Duration::from_secs(3);
/// Before accepting is tried again when the system had nothing left to accept with.
const BREATH: Duration = Duration::from_millis(100);

/// What a server is told.
pub struct Options {
    pub token: Token,
    /// Names under which browsers reach it, beside its address: those of a reverse proxy.
    pub names: Vec<String>,
    /// Where new sessions work if nothing else is said.
    pub cwd: String,
    /// Shown to front ends.
    pub version: String,
    /// Searches code for `/rag/`, where there is an index.
    pub code_search: Option<Arc<dyn CodeSearch>>,
    /// Reads and changes what the person chose for all sessions.
    pub preferences: Option<Arc<dyn Preferences>>,
}

/// What every handler has. Clones are the same.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) client: Arc<dyn Client>,
    pub(crate) roster: Arc<Roster>,
    pub(crate) submitted: Arc<Submitted>,
    pub(crate) access: Arc<Access>,
    pub(crate) names: Arc<Names>,
    /// The name of our cookie. It has the port in it, because cookies do not tell ports apart.
    pub(crate) cookie: Arc<str>,
    pub(crate) cwd: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) code_search: Option<Arc<dyn CodeSearch>>,
    pub(crate) preferences: Option<Arc<dyn Preferences>>,
    pub(crate) tasks: TaskTracker,
    pub(crate) shutdown: CancellationToken,
}

impl App {
    pub(crate) fn new(
        client: Arc<dyn Client>,
        address: SocketAddr,
        options: Options,
        shutdown: CancellationToken,
    ) -> Self {
        let tasks = TaskTracker::new();
        Self {
            roster: Arc::new(Roster::new()),
            submitted: Arc::new(Submitted::new(client.clone(), tasks.clone())),
            client,
            access: Arc::new(Access::new(options.token)),
            names: Arc::new(Names::new(address, &options.names)),
            cookie: format!("covey_{}", address.port()).into(),
            cwd: options.cwd.into(),
            version: options.version.into(),
            code_search: options.code_search,
            preferences: options.preferences,
            tasks,
            shutdown,
        }
    }
}

/// A port with a server behind it.
pub struct Server {
    listener: TcpListener,
    app: App,
}

impl Server {
    pub fn new(
        listener: TcpListener,
        client: Arc<dyn Client>,
        options: Options,
        shutdown: CancellationToken,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self { listener, app: App::new(client, address, options, shutdown) })
    }

    /// Serves until `shutdown`; then lets open connections end, for a moment.
    pub async fn run(self) {
        let Self { listener, app } = self;
        let (tasks, shutdown) = (app.tasks.clone(), app.shutdown.clone());
        let roster = app.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = roster.roster.follow(roster.client.as_ref()) => {}
                () = roster.shutdown.cancelled() => {}
            }
        });
        let router = router(app);
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            let Ok(place) = room.clone().acquire_owned().await else { break };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = shutdown.cancelled() => break,
            };
            let Ok((stream, from)) = accepted else {
                // Out of file descriptors, most likely. Those who are here may leave.
                tokio::time::sleep(BREATH).await;
                continue;
            };
            let (router, shutdown) = (router.clone(), shutdown.clone());
            tasks.spawn(async move {
                serve(stream, from, router, &shutdown).await;
                drop(place);
            });
        }
        drop(listener);
        tasks.close();
        // Who does not end by then is cut off with the process.
        let _ = tokio::time::timeout(GRACE, tasks.wait()).await;
    }
}

async fn serve(stream: TcpStream, from: SocketAddr, router: Router, shutdown: &CancellationToken) {
    // Streams of small messages; without this the last piece of an answer waits for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let service = router.map_request(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        request.map(axum::body::Body::new)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD);
    let connection =
        http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)).with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // What goes wrong on a connection is the client's to notice.
        _ = connection.as_mut() => {}
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

fn router(app: App) -> Router {
    let guarded = rest::routes()
        .route("/api/socket", any(socket::upgrade))
        .layer(middleware::from_fn_with_state(app.clone(), door::guard));
    Router::new()
        .merge(guarded)
        .merge(rest::open_routes())
        .fallback(assets::serve)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(app.clone(), door::keep))
        .with_state(app)
}
