import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryOneTime;

/**
 * Another program that locks the same paths, with Apache Curator. Arguments: servers, path. On its input, a line each:
 * `take mutex|read|write ms` answers `yes` or `no`, `free mutex|read|write` answers `ok`. It ends with its input.
 */
public class Rival {
  public static void main(String[] args) throws Exception {
    try (CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], 4_000, 5_000, new RetryOneTime(100))) {
      client.start();
      client.blockUntilConnected();
      InterProcessMutex mutex = new InterProcessMutex(client, args[1]);
      InterProcessReadWriteLock both = new InterProcessReadWriteLock(client, args[1]);
      BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
      System.out.println("ready");
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        String[] words = line.split(" ");
        InterProcessLock lock =
            switch (words[1]) {
              case "read" -> both.readLock();
              case "write" -> both.writeLock();
              default -> mutex;
            };
        if (words[0].equals("take")) {
          System.out.println(lock.acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS) ? "yes" : "no");
        } else {
          lock.release();
          System.out.println("ok");
        }
      }
    }
  }
}
