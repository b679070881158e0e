import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * A program that takes locks with Spring Integration's RedisLockRegistry, by setIfAbsent and a script, or with ShedLock. Arguments: `spin`,
 * `pubsub`, `absent` or `shedlock`, port of the server, port of the referee. The lines that it reads are those of ../program.ts. All is done by
 * the main thread, which is the owner of the locks of a registry.
 */
public class Peer {
  interface Hold {
    boolean renew(long ttl);

    void release();
  }

  /** Gives null where somebody else has the lock. */
  interface Takes {
    Hold take(String key, long ttl, long wait) throws InterruptedException;
  }

  static LettuceConnectionFactory connect(String port) {
    LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", Integer.parseInt(port));
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  /** The lease is one of the registry, and so a registry is made for each. It renews by itself. */
  static Takes registry(LettuceConnectionFactory factory, RedisLockRegistry.RedisLockType type) {
    ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
    scheduler.setDaemon(true);
    scheduler.initialize();
    Map<Long, RedisLockRegistry> registries = new HashMap<>();
    return (key, ttl, wait) -> {
      RedisLockRegistry registry =
          registries.computeIfAbsent(
              ttl,
              lease -> {
                RedisLockRegistry made = new RedisLockRegistry(factory, "peers", lease);
                made.setRedisLockType(type);
                made.setRenewalTaskScheduler(scheduler);
                return made;
              });
      Lock lock = registry.obtain(key);
      if (!(wait == 0 ? lock.tryLock() : lock.tryLock(wait, TimeUnit.MILLISECONDS))) return null;
      return new Hold() {
        public boolean renew(long ignored) {
          registry.renewLock(key);
          return true;
        }

        public void release() {
          lock.unlock();
        }
      };
    };
  }

  static final DefaultRedisScript<Long> DELETE =
      new DefaultRedisScript<>(
          "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0", Long.class);
  static final DefaultRedisScript<Long> EXPIRE =
      new DefaultRedisScript<>(
          "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0",
          Long.class);

  static Takes setIfAbsent(LettuceConnectionFactory factory) {
    StringRedisTemplate template = new StringRedisTemplate(factory);
    return (key, ttl, wait) -> {
      String value = UUID.randomUUID().toString();
      if (!polled(wait, () -> template.opsForValue().setIfAbsent(key, value, Duration.ofMillis(ttl)))) return null;
      return new Hold() {
        public boolean renew(long ms) {
          return template.execute(EXPIRE, List.of(key), value, Long.toString(ms)) == 1;
        }

        public void release() {
          template.execute(DELETE, List.of(key), value);
        }
      };
    };
  }

  /** Neither setIfAbsent nor ShedLock waits. */
  static boolean polled(long wait, BooleanSupplier take) throws InterruptedException {
    long end = System.nanoTime() + wait * 1_000_000;
    while (!take.getAsBoolean()) {
      if (System.nanoTime() >= end) return false;
      Thread.sleep(100);
    }
    return true;
  }

  static Takes shedLock(LettuceConnectionFactory factory) {
    RedisLockProvider provider = new RedisLockProvider(factory, "prod");
    return (key, ttl, wait) -> {
      AtomicReference<SimpleLock> taken = new AtomicReference<>();
      boolean got =
          polled(
              wait,
              () -> {
                Duration lease = Duration.ofMillis(ttl);
                provider
                    .lock(new LockConfiguration(Instant.now(), key, lease, Duration.ZERO))
                    .ifPresent(taken::set);
                return taken.get() != null;
              });
      if (!got) return null;
      return new Hold() {
        public boolean renew(long ms) {
          Optional<SimpleLock> extended = taken.get().extend(Duration.ofMillis(ms), Duration.ZERO);
          extended.ifPresent(taken::set);
          return extended.isPresent();
        }

        public void release() {
          taken.get().unlock();
        }
      };
    };
  }

  /** Sections for so long, each checked by a counter of another server. */
  static String race(Takes takes, StringRedisTemplate referee, String key, long ttl, long during)
      throws InterruptedException {
    int served = 0;
    int overlaps = 0;
    long end = System.nanoTime() + during * 1_000_000;
    while (System.nanoTime() < end) {
      Hold hold = takes.take(key, ttl, during);
      if (hold == null) continue;
      long began = System.nanoTime();
      if (referee.opsForValue().increment(key) != 1) overlaps++;
      Thread.sleep(2);
      referee.opsForValue().decrement(key);
      hold.release();
      served++;
      TimeUnit.NANOSECONDS.sleep((long) (ThreadLocalRandom.current().nextDouble() * 20 * (System.nanoTime() - began)));
    }
    return served + " " + overlaps;
  }

  public static void main(String[] args) throws Exception {
    LettuceConnectionFactory factory = connect(args[1]);
    StringRedisTemplate referee = new StringRedisTemplate(connect(args[2]));
    Takes takes =
        switch (args[0]) {
          case "spin" -> registry(factory, RedisLockRegistry.RedisLockType.SPIN_LOCK);
          case "pubsub" -> registry(factory, RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
          case "shedlock" -> shedLock(factory);
          default -> setIfAbsent(factory);
        };
    Map<String, Deque<Hold>> holds = new HashMap<>();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ");
      String key = words[1];
      long first = words.length > 2 ? Long.parseLong(words[2]) : 0;
      long second = words.length > 3 ? Long.parseLong(words[3]) : 0;
      Deque<Hold> mine = holds.computeIfAbsent(key, none -> new ArrayDeque<>());
      try {
        String answer = "yes";
        switch (words[0]) {
          case "take" -> {
            Hold hold = takes.take(key, first, second);
            if (hold == null) answer = "no";
            else mine.push(hold);
          }
          case "renew" -> answer = mine.peek().renew(first) ? "yes" : "no";
          case "release" -> mine.pop().release();
          default -> answer = race(takes, referee, key, first, second);
        }
        System.out.println(answer);
      } catch (Exception error) {
        System.out.println("error " + error.toString().replace('\n', ' '));
      }
    }
    System.exit(0);
  }
}
