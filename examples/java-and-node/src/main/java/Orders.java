import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The Java service: it grabs orders, as service.ts does. Arguments: the address of Redis, and how many orders there are. */
public class Orders {
  public static void main(String[] args) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(args[0]);
    RedissonClient redisson = Redisson.create(config);
    redisson.getAtomicLong("ready").incrementAndGet();
    while (redisson.getAtomicLong("ready").get() < 2) Thread.sleep(5);
    List<Integer> orders = IntStream.rangeClosed(1, Integer.parseInt(args[1])).boxed().collect(Collectors.toList());
    Collections.shuffle(orders);
    for (int order : orders) {
      RFencedLock lock = redisson.getFencedLock("order:" + order);
      Long token = lock.tryLockAndGetToken(10, TimeUnit.SECONDS);
      if (token == null) continue;
      try {
        RBucket<String> driver = redisson.getBucket("driver:" + order, StringCodec.INSTANCE);
        if (driver.get() != null) continue;
        Thread.sleep(5); // other checks, a payment, …
        driver.set("java");
        redisson.getList("won:" + order, StringCodec.INSTANCE).add("java, token " + token);
      } finally {
        lock.unlock();
      }
    }
    redisson.shutdown();
  }
}
