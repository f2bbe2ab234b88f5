//! What the server knows, and how it decides.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::OAuthRequest;
use super::answer::{Answer, encode};
use super::resource::RESOURCE;

const CLIENT: &str = "test-client";

/// How it behaves. [`Default`] is a provider without faults.
#[derive(Debug, Clone)]
pub struct OAuthBehaviour {
    /// What the person says on the page.
    pub consent: Consent,
    /// Seconds that access tokens hold; `None` leaves it out of the answer.
    pub expires_in: Option<u64>,
    /// Whether there are refresh tokens at all.
    pub refresh_tokens: bool,
    /// Whether each refresh token works once and is replaced; using one again then ends the whole login.
    pub rotate: bool,
    /// What a device hears when it asks, one after another. After the last it gets its token.
    pub device: VecDeque<DeviceStep>,
    /// The `interval` of a device code; `None` leaves it out.
    pub interval: Option<u64>,
    /// Seconds that a device code holds.
    pub device_expires_in: u64,
    /// Errors with status 200, as GitHub sends them, instead of 400.
    pub errors_with_200: bool,
    /// What goes wrong with every POST from now on.
    pub fault: Option<OAuthFault>,
    /// How long it thinks before each answer.
    pub pause: Duration,
}

/// What the person does with the page that asks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    Approve,
    Deny,
    /// Approves, but the page comes back with a state that is not ours.
    WrongState,
}

/// One answer to a device that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceStep {
    Pending,
    SlowDown,
    Expired,
    Denied,
    /// Status 503, once.
    Trouble,
}

/// Something that no provider should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OAuthFault {
    Status(u16),
    /// A proxy's page, with status 200.
    Page,
    /// JSON that does not end for a long while.
    Huge,
    /// Elsewhere, with everything that was sent.
    Redirect,
    /// No answer at all.
    Silent,
    /// A refusal that quotes all that was sent, in each of its fields.
    Quote,
    /// An answer without its token.
    Empty,
}

impl Default for OAuthBehaviour {
    fn default() -> Self {
        Self {
            consent: Consent::Approve,
            expires_in: Some(3600),
            refresh_tokens: true,
            rotate: true,
            device: VecDeque::new(),
            interval: Some(5),
            device_expires_in: 900,
            errors_with_200: false,
            fault: None,
            pause: Duration::ZERO,
        }
    }
}

/// A code that waits to be exchanged.
struct Code {
    challenge: String,
    redirect: String,
    used: bool,
}

struct Refresh {
    family: u64,
    used: bool,
}

pub(super) struct State {
    pub(super) behaviour: OAuthBehaviour,
    pub(super) requests: Vec<Arc<OAuthRequest>>,
    pub(super) secrets: Vec<String>,
    address: SocketAddr,
    /// Those that registered themselves.
    clients: Vec<String>,
    codes: BTreeMap<String, Code>,
    refreshes: BTreeMap<String, Refresh>,
    accesses: BTreeMap<String, u64>,
    revoked: Vec<u64>,
    devices: Vec<String>,
    count: u64,
}

impl State {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self {
            behaviour: OAuthBehaviour::default(),
            requests: Vec::new(),
            secrets: Vec::new(),
            address,
            clients: Vec::new(),
            codes: BTreeMap::new(),
            refreshes: BTreeMap::new(),
            accesses: BTreeMap::new(),
            revoked: Vec::new(),
            devices: Vec::new(),
            count: 0,
        }
    }

    pub(super) fn revoke(&mut self) {
        self.revoked = (0..=self.count).collect();
    }

    pub(super) fn accepts(&self, access: &str) -> bool {
        self.accesses.get(access).is_some_and(|family| !self.revoked.contains(family))
    }

    pub(super) fn answer(&mut self, request: &OAuthRequest) -> Answer {
        for name in ["code_verifier", "code", "refresh_token", "device_code"] {
            self.secrets.extend(request.field(name).map(str::to_owned));
        }
        if request.method == "POST"
            && request.path != RESOURCE
            && let Some(fault) = self.behaviour.fault
        {
            return self.misbehave(fault, request);
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/authorize") => self.authorize(request),
            ("GET", "/auth") => self.openrouter_auth(request),
            ("POST", "/token") => self.token(request),
            ("POST", "/device") => self.device_code(request),
            ("POST", "/api/v1/auth/keys") => self.openrouter_key(request),
            ("GET", path) if path.starts_with("/.well-known/oauth-protected-resource") => {
                self.resource_metadata()
            }
            ("GET", "/.well-known/oauth-authorization-server") => self.server_metadata(),
            ("POST", "/register") => self.register(request),
            (_, RESOURCE) => self.resource(request),
            _ => Answer::page(404, "there is nothing here"),
        }
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn new_client(&mut self) -> String {
        let client = format!("registered-{}", self.clients.len() + 1);
        self.clients.push(client.clone());
        client
    }

    fn knows(&self, client: &str) -> bool {
        client == CLIENT || self.clients.iter().any(|known| known == client)
    }

    fn misbehave(&self, fault: OAuthFault, request: &OAuthRequest) -> Answer {
        match fault {
            OAuthFault::Status(status) => Answer::json(status, json!({"message": request.body})),
            OAuthFault::Page => Answer::page(200, format!("<h1>Proxy</h1>{}", request.body)),
            OAuthFault::Huge => Answer::json(200, json!({"access_token": "x".repeat(1 << 20)})),
            OAuthFault::Redirect => Answer::redirect(format!("http://{}/elsewhere", self.address)),
            OAuthFault::Silent => Answer::page(0, ""),
            OAuthFault::Quote => {
                let quote = request.fields.iter().map(|(name, value)| format!("{name}={value}"));
                let quote = quote.collect::<Vec<_>>().join("&");
                Answer::json(400, json!({"error": quote, "error_description": quote, "error_uri": quote}))
            }
            OAuthFault::Empty => Answer::json(200, json!({"token_type": "bearer"})),
        }
    }

    /// A word that nobody has had before. It is long, so that looking for it finds nothing else.
    fn secret(&mut self, kind: &str) -> String {
        self.count += 1;
        let random =
            URL_SAFE_NO_PAD.encode(Sha256::digest(format!("{kind} {} {}", self.count, self.address)));
        let secret = format!("{kind}-{}-{}", self.count, &random[..24]);
        self.secrets.push(secret.clone());
        secret
    }

    fn authorize(&mut self, request: &OAuthRequest) -> Answer {
        let field = |name: &str| request.field(name).unwrap_or_default();
        let redirect = field("redirect_uri");
        // These are told to the person and not to the client, which may be anyone.
        if !self.knows(field("client_id")) {
            return Answer::page(400, "unknown client");
        }
        if !loopback(redirect) {
            return Answer::page(400, "that is no address of this machine");
        }
        let state = match self.behaviour.consent {
            Consent::WrongState => "somebody-elses-state",
            _ => field("state"),
        };
        let back = |what: &str| Answer::redirect(format!("{redirect}?{what}&state={}", encode(state)));
        if self.behaviour.consent == Consent::Deny {
            return back("error=access_denied&error_description=no");
        }
        if field("response_type") != "code" {
            return back("error=unsupported_response_type");
        }
        if field("code_challenge_method") != "S256" || field("code_challenge").len() != 43 {
            return back("error=invalid_request");
        }
        let code = self.new_code(field("code_challenge"), redirect);
        Answer::redirect(format!("{redirect}?code={}&state={}", encode(&code), encode(state)))
    }

    fn openrouter_auth(&mut self, request: &OAuthRequest) -> Answer {
        let field = |name: &str| request.field(name).unwrap_or_default();
        let callback = field("callback_url").to_owned();
        if !loopback(&callback) || field("code_challenge_method") != "S256" {
            return Answer::page(400, "that is no login");
        }
        if self.behaviour.consent == Consent::Deny {
            return Answer::redirect(format!("{callback}?error=access_denied"));
        }
        let code = self.new_code(field("code_challenge"), &callback);
        // It does not hand back a state.
        Answer::redirect(format!("{callback}?code={}", encode(&code)))
    }

    fn new_code(&mut self, challenge: &str, redirect: &str) -> String {
        let code = self.secret("code");
        let kept = Code { challenge: challenge.to_owned(), redirect: redirect.to_owned(), used: false };
        self.codes.insert(code.clone(), kept);
        code
    }

    /// Whether a code is known, new, and asked for by the one who has the verifier. Either way it is used up.
    fn redeem(&mut self, request: &OAuthRequest, check_redirect: bool) -> bool {
        let Some(code) = self.codes.get_mut(request.field("code").unwrap_or_default()) else { return false };
        let fresh = !std::mem::replace(&mut code.used, true);
        let verifier = request.field("code_verifier").unwrap_or_default();
        let proven =
            URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == code.challenge && verifier.len() >= 43;
        let same_place = !check_redirect || request.field("redirect_uri") == Some(code.redirect.as_str());
        fresh && proven && same_place
    }

    fn openrouter_key(&mut self, request: &OAuthRequest) -> Answer {
        if request.field("code_challenge_method") != Some("S256") {
            return Answer::json(
                400,
                json!({"error": {"code": 400, "message": "Invalid code_challenge_method"}}),
            );
        }
        if !self.redeem(request, false) {
            return Answer::json(
                403,
                json!({"error": {"code": 403, "message": "Invalid code or code_verifier"}}),
            );
        }
        let key = self.secret("sk-or-v1");
        Answer::json(200, json!({"key": key, "user_id": "user_1"}))
    }

    fn refuse(&self, code: &str) -> Answer {
        let status = if self.behaviour.errors_with_200 { 200 } else { 400 };
        Answer::json(status, json!({"error": code, "error_description": format!("it is {code}")}))
    }

    fn token(&mut self, request: &OAuthRequest) -> Answer {
        if !self.knows(request.field("client_id").unwrap_or_default()) {
            return self.refuse("invalid_client");
        }
        match request.field("grant_type") {
            Some("authorization_code") if self.redeem(request, true) => {
                self.count += 1;
                self.tokens(self.count)
            }
            Some("authorization_code") => self.refuse("invalid_grant"),
            Some("refresh_token") => self.refresh(request.field("refresh_token").unwrap_or_default()),
            Some("urn:ietf:params:oauth:grant-type:device_code") => self.device_token(request),
            _ => self.refuse("unsupported_grant_type"),
        }
    }

    fn refresh(&mut self, token: &str) -> Answer {
        let Some(known) = self.refreshes.get_mut(token) else { return self.refuse("invalid_grant") };
        let family = known.family;
        let used = std::mem::replace(&mut known.used, self.behaviour.rotate);
        if used {
            // Two have it, and one of them stole it.
            self.revoked.push(family);
        }
        if self.revoked.contains(&family) {
            return self.refuse("invalid_grant");
        }
        self.tokens(family)
    }

    fn tokens(&mut self, family: u64) -> Answer {
        let access = self.secret("access");
        self.accesses.insert(access.clone(), family);
        let mut answer = json!({"access_token": access, "token_type": "Bearer", "scope": ""});
        if let Some(seconds) = self.behaviour.expires_in {
            answer["expires_in"] = json!(seconds);
        }
        let first = !self.refreshes.values().any(|refresh| refresh.family == family);
        if self.behaviour.refresh_tokens && (first || self.behaviour.rotate) {
            let refresh = self.secret("refresh");
            self.refreshes.insert(refresh.clone(), Refresh { family, used: false });
            answer["refresh_token"] = json!(refresh);
        }
        Answer::json(200, answer)
    }

    fn device_code(&mut self, request: &OAuthRequest) -> Answer {
        if request.field("client_id") != Some(CLIENT) {
            return self.refuse("invalid_client");
        }
        let device = self.secret("device");
        self.devices.push(device.clone());
        let page = format!("http://{}/activate", self.address);
        let mut answer = json!({
            "device_code": device, "user_code": "WDJB-MJHT", "verification_uri": page,
            "verification_uri_complete": format!("{page}?user_code=WDJB-MJHT"),
            "expires_in": self.behaviour.device_expires_in,
        });
        if let Some(interval) = self.behaviour.interval {
            answer["interval"] = Value::from(interval);
        }
        Answer::json(200, answer)
    }

    fn device_token(&mut self, request: &OAuthRequest) -> Answer {
        let code = request.field("device_code").unwrap_or_default();
        let Some(position) = self.devices.iter().position(|known| known == code) else {
            return self.refuse("invalid_grant");
        };
        match self.behaviour.device.pop_front() {
            Some(DeviceStep::Pending) => self.refuse("authorization_pending"),
            Some(DeviceStep::SlowDown) => self.refuse("slow_down"),
            Some(DeviceStep::Expired) => self.refuse("expired_token"),
            Some(DeviceStep::Denied) => self.refuse("access_denied"),
            Some(DeviceStep::Trouble) => Answer::page(503, "later"),
            None => {
                self.devices.remove(position);
                self.count += 1;
                self.tokens(self.count)
            }
        }
    }
}

fn loopback(url: &str) -> bool {
    url.starts_with("http://127.0.0.1:") || url.starts_with("http://localhost:")
}
