import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RFencedLock;
import org.redisson.api.RList;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Another program that takes the same locks, with Redisson. Arguments: the addresses (several are a Cluster), the watchdog timeout in ms. A
 * line of its input is `number thread command …`; what one thread is asked is done in order, by that thread. It ends with its input.
 */
public class Peer {
  private static RedissonClient client;

  private static RedissonClient connect(String urls, long watchdog) {
    Config config = new Config();
    config.setLockWatchdogTimeout(watchdog);
    config.setThreads(4);
    config.setNettyThreads(4);
    String[] nodes = urls.split(",");
    if (nodes.length > 1) {
      config.useClusterServers().addNodeAddress(nodes).setMasterConnectionMinimumIdleSize(1).setSlaveConnectionMinimumIdleSize(1);
    } else {
      config.useSingleServer().setAddress(urls).setConnectionMinimumIdleSize(2);
    }
    return Redisson.create(config);
  }

  private static RLock lockOf(String kind, String name) {
    return switch (kind) {
      case "fenced" -> client.getFencedLock(name);
      case "fair" -> client.getFairLock(name);
      case "spin" -> client.getSpinLock(name);
      case "read" -> client.getReadWriteLock(name).readLock();
      case "write" -> client.getReadWriteLock(name).writeLock();
      default -> client.getLock(name);
    };
  }

  /** `take kind name wait lease`: a lease of -1 is renewed. A fenced lock tells its token. */
  private static String take(String kind, String name, long wait, long lease) throws InterruptedException {
    RLock lock = lockOf(kind, name);
    if (lock instanceof RFencedLock) {
      RFencedLock fenced = (RFencedLock) lock;
      Long token = lease < 0 ? fenced.tryLockAndGetToken(wait, TimeUnit.MILLISECONDS) : fenced.tryLockAndGetToken(wait, lease, TimeUnit.MILLISECONDS);
      return token == null ? "no" : "yes " + token;
    }
    return lock.tryLock(wait, lease, TimeUnit.MILLISECONDS) ? "yes" : "no";
  }

  /**
   * `race kind name ms referee`: sections until then; answers how many, and the longest wait for one, ms. The referee is another server: it
   * counts those inside, and keeps the tokens in order.
   */
  private static String race(String kind, String name, long ms, String referee) throws InterruptedException {
    RedissonClient other = connect(referee, 30_000);
    try {
      RAtomicLong inside = other.getAtomicLong("inside");
      RAtomicLong overlaps = other.getAtomicLong("overlaps");
      RList<String> tokens = other.getList("tokens", StringCodec.INSTANCE);
      long end = System.nanoTime() + ms * 1_000_000;
      int served = 0;
      long longest = 0;
      while (System.nanoTime() < end) {
        long asked = System.nanoTime();
        String taken = take(kind, name, 20_000, -1);
        longest = Math.max(longest, System.nanoTime() - asked);
        if (taken.equals("no")) continue;
        if (inside.incrementAndGet() > 1) overlaps.incrementAndGet();
        tokens.add(taken.substring(3).trim());
        inside.decrementAndGet();
        lockOf(kind, name).unlock();
        served++;
        Thread.sleep(1);
      }
      return served + " " + longest / 1_000_000;
    } finally {
      other.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  private static String answer(String[] words) throws InterruptedException {
    switch (words[2]) {
      case "take":
        return take(words[3], words[4], Long.parseLong(words[5]), Long.parseLong(words[6]));
      case "free":
        lockOf(words[3], words[4]).unlock();
        return "ok";
      // The clock of this machine that Node.js can read, too, ns: after a lock was taken, and before it is freed.
      case "timedTake":
        if (!lockOf(words[3], words[4]).tryLock(20, 20, TimeUnit.SECONDS)) throw new IllegalStateException("not taken");
        return "" + System.nanoTime();
      case "timedFree":
        long began = System.nanoTime();
        lockOf(words[3], words[4]).unlock();
        return "" + began;
      case "force":
        return "" + lockOf(words[3], words[4]).forceUnlock();
      case "holds":
        return "" + lockOf(words[3], words[4]).isHeldByCurrentThread();
      // One permit of an expirable semaphore: its id, or `null`.
      case "permit":
        client.getPermitExpirableSemaphore(words[3]).trySetPermits(1);
        return "" + client.getPermitExpirableSemaphore(words[3]).tryAcquire(0, Long.parseLong(words[4]), TimeUnit.MILLISECONDS);
      case "race":
        return race(words[3], words[4], Long.parseLong(words[5]), words[6]);
      case "id":
        return client.getId() + " " + Thread.currentThread().getId();
      default:
        throw new IllegalArgumentException("unknown command " + words[2]);
    }
  }

  public static void main(String[] args) throws Exception {
    client = connect(args[0], Long.parseLong(args[1]));
    Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      threads.computeIfAbsent(words[1], name -> Executors.newSingleThreadExecutor()).submit(() -> {
        String answer;
        try {
          answer = answer(words);
        } catch (Throwable error) {
          answer = "! " + error;
        }
        System.out.println(words[0] + " " + answer.replace('\n', ' '));
      });
    }
    System.exit(0);
  }
}
