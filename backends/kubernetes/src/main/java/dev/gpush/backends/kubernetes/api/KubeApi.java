package dev.gpush.backends.kubernetes.api;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.DurationText;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.WebSocket;
import io.fabric8.kubernetes.client.http.WebSocketHandshakeException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/**
 * One API server under one name. Logs in at the first request, and again when the kubeconfig has
 * changed.
 */
public final class KubeApi implements ApiServer {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Of servers since 1.30; earlier ones do not know the end of a command's input. */
  private static final String EXEC_PROTOCOL = "v5.channel.k8s.io";

  private final Access access;
  private final Map<String, String> environment;
  private final Clients clients;

  /** {@code environment} may name a proxy. */
  public KubeApi(Access access, Map<String, String> environment) {
    this(access, environment, new Clients());
  }

  private KubeApi(Access access, Map<String, String> environment, Clients clients) {
    this.access = access;
    this.environment = environment;
    this.clients = clients;
  }

  /** Of one kubeconfig; each login is made once. */
  private static final class Clients {
    private final ReentrantLock lock = new ReentrantLock();

    // guarded by lock
    private final Map<Access, Client> all = new HashMap<>();
  }

  private record Client(Config config, HttpClient http, String stamp) {}

  private record Answer(int status, String body, Optional<Instant> at) {}

  @Override
  public Optional<String> namespace() {
    return Optional.ofNullable(client().config().getNamespace()).filter(name -> !name.isBlank());
  }

  @Override
  public String server() {
    return Access.server(client().config());
  }

  @Override
  public Optional<String> context() {
    return context(client().config());
  }

  private static Optional<String> context(Config config) {
    return Optional.ofNullable(config.getCurrentContext()).map(NamedContext::getName);
  }

  @Override
  public ApiServer at(Access other) {
    return new KubeApi(other, environment, clients);
  }

  // ---- objects

  @Override
  public Json get(String path) throws InterruptedException, Unanswered, ApiRefusal {
    return object(send("GET", path, "", ""));
  }

  @Override
  public Json create(String path, Json object) throws InterruptedException, Unanswered, ApiRefusal {
    return object(send("POST", path, "application/json", object.write()));
  }

  @Override
  public Json replace(String path, Json object)
      throws InterruptedException, Unanswered, ApiRefusal {
    return object(send("PUT", path, "application/json", object.write()));
  }

  @Override
  public Json change(String path, Json change) throws InterruptedException, Unanswered, ApiRefusal {
    return object(send("PATCH", path, "application/merge-patch+json", change.write()));
  }

  @Override
  public void delete(String path, Json options)
      throws InterruptedException, Unanswered, ApiRefusal {
    try {
      object(send("DELETE", path, "application/json", options.write()));
    } catch (ApiRefusal refusal) {
      if (!refusal.isNotFound()) {
        throw refusal;
      }
    }
  }

  @Override
  public Instant time() throws InterruptedException, Unanswered {
    return send("GET", "/version", "", "")
        .at()
        .orElseThrow(() -> new Unanswered(server() + " does not send the time", null));
  }

  private Json object(Answer answer) throws Unanswered, ApiRefusal {
    Json json = parsed(answer.body());
    int status = answer.status();
    if (status >= 200 && status < 300) {
      return json;
    }
    String message = json.text("message").orElse(ClusterText.clean(answer.body()));
    if (status == 401) {
      throw new Unanswered(
          "it no longer accepts your login (401 Unauthorized)",
          access.unavailable(
              server()
                  + " does not accept your login: the token or certificate has expired, or is for"
                  + " another cluster",
              access.kubectl() + " auth whoami"));
    }
    if (status >= 500 || status == 429 || status < 400) {
      throw new Unanswered(server() + " says " + status + ": " + ClusterText.clean(message), null);
    }
    throw new ApiRefusal(status, json.text("reason").orElse(""), message);
  }

  private static Json parsed(String body) {
    try {
      return Json.parse(body);
    } catch (JsonSyntaxException page) {
      return Json.object();
    }
  }

  private Answer send(String method, String path, String type, String body)
      throws InterruptedException, Unanswered {
    Client now = reached();
    HttpRequest.Builder request =
        now.http()
            .newHttpRequestBuilder()
            .uri(uri(now, path).toString())
            .header("Accept", "application/json")
            .timeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (!method.equals("GET")) {
      request.method(method, type, body);
    }
    HttpResponse<String> answer =
        awaited(now.http().sendAsync(request.build(), String.class), Access.reached(now.config()));
    return new Answer(
        answer.code(), Optional.ofNullable(answer.body()).orElse(""), date(answer.header("Date")));
  }

  private static URI uri(Client now, String path) {
    return URI.create(Access.server(now.config()) + path);
  }

  private static Optional<Instant> date(String header) {
    try {
      return Optional.ofNullable(header)
          .map(text -> ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
    } catch (DateTimeParseException odd) {
      return Optional.empty();
    }
  }

  private static <T> T awaited(Future<T> answer, String server)
      throws InterruptedException, Unanswered {
    try {
      return answer.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      throw new Unanswered(server + " has not answered for " + DurationText.of(LIMIT), late);
    } catch (ExecutionException failed) {
      throw new Unanswered(words(server, cause(failed)), failed);
    } finally {
      answer.cancel(true);
    }
  }

  private static Throwable cause(ExecutionException failed) {
    return Optional.ofNullable(failed.getCause()).orElse(failed);
  }

  private static String words(String server, Throwable cause) {
    return switch (cause) {
      case ConnectException _ -> server + " cannot be reached: it refuses connections";
      case UnknownHostException _ -> server + " cannot be reached: its name cannot be resolved";
      case SSLException untrusted ->
          server + " is not trusted: " + ClusterText.clean(String.valueOf(untrusted.getMessage()));
      case InterruptedIOException late -> server + " does not answer";
      case Throwable other ->
          server + " cannot be reached: " + ClusterText.clean(String.valueOf(other.getMessage()));
    };
  }

  // ---- commands in pods

  @Override
  public String log(String namespace, String pod, String container)
      throws InterruptedException, Unanswered {
    String query = "?previous=true&tailLines=10&limitBytes=2000&container=" + container;
    Answer answer =
        send("GET", "/api/v1/namespaces/" + namespace + "/pods/" + pod + "/log" + query, "", "");
    return answer.status() == 200 ? answer.body() : "";
  }

  @Override
  public Pipe exec(String namespace, String pod, String container, List<String> arguments)
      throws IOException {
    try {
      Client now = client();
      String query =
          arguments.stream()
              .map(word -> "&command=" + ApiServer.encoded(word))
              .collect(
                  Collectors.joining(
                      "", "?stdin=true&stdout=true&stderr=true&container=" + container, ""));
      String path = "/api/v1/namespaces/" + namespace + "/pods/" + pod + "/exec" + query;
      var pipe = new ExecPipe();
      CompletableFuture<WebSocket> opened =
          now.http()
              .newWebSocketBuilder()
              .uri(uri(now, path))
              .subprotocol(EXEC_PROTOCOL)
              .connectTimeout(LIMIT.toMillis(), TimeUnit.MILLISECONDS)
              .buildAsync(pipe);
      // Closes it if it opens when it is no longer waited for.
      var _ = opened.whenComplete((socket, _) -> pipe.begin(Optional.ofNullable(socket)));
      try {
        opened.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        return pipe;
      } catch (TimeoutException late) {
        throw new IOException(server() + " has not answered for " + DurationText.of(LIMIT), late);
      } catch (ExecutionException failed) {
        throw new IOException(execWords(pod, cause(failed)), failed);
      } finally {
        if (!opened.isDone() || opened.isCompletedExceptionally()) {
          pipe.close();
        }
      }
    } catch (GpushException failed) {
      throw new IOException(FailureText.clause(failed.failure()), failed);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  private String execWords(String pod, Throwable cause) {
    if (cause instanceof WebSocketHandshakeException refused) {
      int code = refused.getResponse().code();
      return switch (code) {
        case 401 -> server() + " no longer accepts your login";
        // A server before 1.30 does not know the protocol, and refuses it with the same status.
        case 403 ->
            "not allowed: get and create of pods/exec are needed; a server older than Kubernetes"
                + " 1.30 says so too";
        case 404 -> "there is no pod " + pod;
        default -> "no command can be run in pod " + pod + " now (" + code + ")";
      };
    }
    return words(Access.reached(client().config()), cause);
  }

  // ---- logging in

  /** A kubeconfig that cannot be used now says nothing about what is in the cluster. */
  private Client reached() throws Unanswered {
    try {
      return client();
    } catch (GpushException noAccess) {
      throw new Unanswered(FailureText.clause(noAccess.failure()), noAccess);
    }
  }

  private Client client() {
    String stamp = access.stamp();
    clients.lock.lock();
    try {
      Client known = clients.all.get(access);
      if (known != null && known.stamp().equals(stamp)) {
        return known;
      }
      Config config = access.config(environment);
      HttpClient.Factory factory = new PromptSockets();
      // The former client stays usable; its idle threads end by themselves.
      var made = new Client(config, factory.newBuilder(config).build(), stamp);
      clients.all.put(access, made);
      clients.all.put(access.at(context(config), Access.server(config)), made);
      return made;
    } finally {
      clients.lock.unlock();
    }
  }
}
