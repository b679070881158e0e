import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.yaml.snakeyaml.Yaml;

/**
 * A process of holdfast torture with locks of Redisson. It speaks what process/work.ts speaks: a line of JSON for each message, on its input
 * and output. What its actors do is what process/actor.ts does with another library. Argument: `plain` or `fenced`.
 */
public class RedissonWorker {
  private static final int ACTORS = 4;
  private static final int MAX_WAIT_MS = 20_000;
  private static final int OBSERVATION_INTERVAL_MS = 40;
  private static final double SLOW_PART = 0.2;
  private static final int PIECE_MS = 400;

  private static final Map<Integer, CompletableFuture<Integer>> questions = new ConcurrentHashMap<>();
  private static final AtomicInteger lastQuestion = new AtomicInteger();
  private static final AtomicInteger held = new AtomicInteger();
  private static final List<Thread> actors = new ArrayList<>();
  private static volatile boolean ended;
  private static boolean fenced;
  private static Map<String, Object> task;
  private static RedissonClient client;

  private static double number(Object value) {
    return Double.parseDouble("" + value);
  }

  /** ms since the start of the run, by the clock of the machine that Node.js has, too. */
  private static double now() {
    return (System.nanoTime() - Long.parseLong("" + task.get("origin"))) / 1e6;
  }

  private static String jsonOf(Object value) {
    if (value instanceof Map<?, ?> map)
      return map.entrySet().stream().map(each -> "\"" + each.getKey() + "\":" + jsonOf(each.getValue())).collect(Collectors.joining(",", "{", "}"));
    if (value instanceof List<?> list) return list.stream().map(each -> jsonOf(each)).collect(Collectors.joining(",", "[", "]"));
    return value instanceof String ? "\"" + value + "\"" : "" + value;
  }

  private static void send(Object message) {
    synchronized (System.out) {
      System.out.println(jsonOf(message));
      System.out.flush();
    }
  }

  private static void report(String what, String op, double at, Object... more) {
    Map<String, Object> event = new LinkedHashMap<>(Map.of("what", what, "op", op, "at", at));
    for (int i = 0; i < more.length; i += 2) event.put((String) more[i], more[i + 1]);
    send(Map.of("events", List.of(event)));
  }

  private static int ask(Object question) {
    int number = lastQuestion.incrementAndGet();
    CompletableFuture<Integer> answer = new CompletableFuture<>();
    questions.put(number, answer);
    send(Map.of("events", List.of(), "asked", Map.of("ask", number, "question", question)));
    return answer.join();
  }

  @SuppressWarnings("unchecked")
  private static void begin() {
    URI url = URI.create((String) task.get("url"));
    Map<String, ?> target = Map.of("host", url.getHost(), "port", url.getPort());
    int port = (boolean) task.get("links") ? ask(Map.of("route", target)) : url.getPort();
    Config config = new Config();
    config.setLockWatchdogTimeout((long) number(task.get("ttl")));
    config.useSingleServer().setAddress("redis://127.0.0.1:" + port).setConnectionMinimumIdleSize(2);
    client = Redisson.create(config);
    List<Map<String, Object>> slow = new ArrayList<>();
    List<Map<String, Object>> quick = new ArrayList<>();
    for (Map<String, Object> lock : (List<Map<String, Object>>) task.get("testLocks"))
      (number(lock.get("longPart")) >= SLOW_PART ? slow : quick).add(lock);
    for (int i = 0; i < ACTORS; i++) {
      int index = i;
      Random random = new Random((long) number(task.get("seed")) + i);
      Thread actor = new Thread(() -> act(index, index == 0 ? slow : quick, random));
      actors.add(actor);
      actor.start();
    }
  }

  private static void act(int index, List<Map<String, Object>> locks, Random random) {
    try {
      for (int count = 0; !ended; count++) {
        String op = task.get("name") + "." + index + "." + count;
        boolean answered = operate(op, locks.get(random.nextInt(locks.size())), random);
        Thread.sleep(answered ? random.nextInt(15) : 30 + random.nextInt(120));
      }
    } catch (InterruptedException end) {
      // The run is over.
    }
  }

  private static boolean operate(String op, Map<String, Object> testLock, Random random) throws InterruptedException {
    String key = (String) testLock.get("key");
    RLock lock = fenced ? client.getFencedLock(key) : client.getLock(key);
    int all = Integer.MAX_VALUE;
    double asked = now();
    report("asked", op, asked, "by", task.get("by"), "key", key, "units", all, "capacity", all, "renewed", true);
    Long token = null;
    try {
      long wait = random.nextDouble() < 0.1 ? 0 : MAX_WAIT_MS;
      boolean taken;
      if (lock instanceof RFencedLock fencedLock) {
        token = fencedLock.tryLockAndGetToken(wait, TimeUnit.MILLISECONDS);
        taken = token != null;
      } else {
        taken = lock.tryLock(wait, TimeUnit.MILLISECONDS);
      }
      if (!taken) {
        report("refused", op, now(), "code", "TAKEN");
        return true;
      }
    } catch (InterruptedException end) {
      report("refused", op, now(), "code", "LOCK_CANCELED");
      throw end;
    } catch (RuntimeException error) {
      report("refused", op, now(), "code", "LOCK_UNAVAILABLE", "why", error.getClass().getSimpleName());
      return false;
    }
    hold(op, lock, asked, token, number(testLock.get("longPart")), random);
    return true;
  }

  /**
   * Its documents tell a user to work between `lock` and `unlock`. No signal reports a loss, so the user believes in the hold all the time.
   * The grant may be as old as the request.
   */
  private static void hold(String op, RLock lock, double before, Long token, double longPart, Random random) throws InterruptedException {
    held.incrementAndGet();
    try {
      if (token == null) report("entered", op, now(), "before", before, "remaining", null);
      else report("entered", op, now(), "before", before, "remaining", null, "token", "" + token);
      ask(Map.of("claim", op));
      double until = now() + holdTime(longPart, random);
      do {
        report("held", op, now(), "remaining", null);
        Thread.sleep((long) Math.max(0, Math.min(OBSERVATION_INTERVAL_MS, until - now())));
      } while (now() < until && !ended);
      ask(Map.of("write", op));
      report("left", op, now());
    } finally {
      held.decrementAndGet();
      try {
        lock.unlock();
      } catch (RuntimeException lost) {
        // The lock was lost, or the server does not answer.
      }
      report("freed", op, now());
    }
  }

  private static double holdTime(double longPart, Random random) {
    double ttl = number(task.get("ttl"));
    if (random.nextDouble() < longPart) return ttl / 3.0 + random.nextDouble() * ttl * (1.5 - 1 / 3.0);
    return random.nextDouble() < 0.9 ? random.nextDouble() * 10 : 10 + random.nextDouble() * 90;
  }

  /** The whole process stands still, as in a long collection of garbage: Java has no loop that could be blocked. */
  private static void block(long ms, boolean pieces) throws Exception {
    send(Map.of("held", held.get()));
    long piece = pieces ? Math.min(ms, PIECE_MS) : ms;
    String stop = "kill -STOP $0; sleep " + piece / 1e3 + "; kill -CONT $0; sleep 0.001; ";
    new ProcessBuilder("sh", "-c", stop.repeat((int) Math.ceil((double) ms / piece)), "" + ProcessHandle.current().pid()).start();
  }

  private static void end() {
    ended = true;
    for (Thread actor : actors) {
      try {
        actor.join(500);
        actor.interrupt(); // it waits for a lock
        actor.join(2_000);
      } catch (InterruptedException never) {
        break;
      }
    }
    if (client != null) client.shutdown(0, 2, TimeUnit.SECONDS);
    System.exit(0);
  }

  @SuppressWarnings("unchecked")
  public static void main(String[] args) throws Exception {
    fenced = args[0].equals("fenced");
    List<?> stopped = List.of();
    Yaml json = new Yaml(); // JSON is YAML, too
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      Map<String, Object> message = json.load(line);
      if (message.containsKey("task")) {
        task = (Map<String, Object>) message.get("task");
        new Thread(() -> {
          try {
            begin();
            send(Map.of("ready", true));
          } catch (Throwable error) {
            send(Map.of("failed", "" + error));
          }
        }).start();
      } else if (message.containsKey("answer")) {
        questions.remove((int) message.get("answer")).complete((int) message.get("value"));
      } else if (message.containsKey("block")) {
        block((long) number(message.get("block")), (boolean) message.get("pieces"));
      } else if (message.containsKey("stopped")) {
        stopped = (List<?>) message.get("stopped");
      } else {
        new Thread(RedissonWorker::end).start();
      }
    }
    // The referee is gone.
    for (Object pid : stopped) new ProcessBuilder("kill", "-CONT", "" + pid).start().waitFor();
    Runtime.getRuntime().halt(1);
  }
}
