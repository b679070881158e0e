<?php
/*
 * A program that takes locks with the cache of Laravel, over phpredis. Arguments: port of the server, port of the referee. The lines that it
 * reads are those of ../program.ts.
 */

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Redis\RedisManager;

// Debian's Laravel is older than its PHP.
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Illuminate/Redis/autoload.php';
require 'Illuminate/Cache/autoload.php';

[, $server, $refereePort] = $argv;
// The prefixes of a new application, as its configuration makes them.
$connections = [
    'options' => ['prefix' => 'app_database_'],
    'default' => ['host' => '127.0.0.1', 'port' => (int) $server],
];
$store = new RedisStore(new RedisManager(null, 'phpredis', $connections), 'app_cache');
$referee = new Redis();
$referee->connect('127.0.0.1', (int) $refereePort);

/** Times are in ms, and Laravel's in seconds. Gives null where somebody else has the lock. */
function take($store, $key, $ttl, $wait)
{
    $lock = $store->lock($key, (int) ceil($ttl / 1000));
    if ($wait == 0) {
        return $lock->acquire() ? $lock : null;
    }
    try {
        $lock->block((int) ceil($wait / 1000));
        return $lock;
    } catch (LockTimeoutException) {
        return null;
    }
}

/** Sections for so long, each checked by a counter of another server. */
function race($store, $referee, $key, $ttl, $during)
{
    $served = $overlaps = 0;
    $end = hrtime(true) + $during * 1e6;
    while (hrtime(true) < $end) {
        $lock = take($store, $key, $ttl, $during);
        if (!$lock) {
            continue;
        }
        $began = hrtime(true);
        if ($referee->incr($key) !== 1) {
            $overlaps++;
        }
        usleep(2_000);
        $referee->decr($key);
        $lock->release();
        $served++;
        usleep((int) (mt_rand() / mt_getrandmax() * 20 * (hrtime(true) - $began) / 1000));
    }
    return "$served $overlaps";
}

$holds = [];
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    [$command, $key, $first, $second] = [...explode(' ', trim($line)), 0, 0];
    try {
        $answer = 'yes';
        if ($command === 'take') {
            $lock = take($store, $key, $first, $second);
            if ($lock) {
                $holds[$key][] = $lock;
            }
            $answer = $lock ? 'yes' : 'no';
        } elseif ($command === 'release') {
            array_pop($holds[$key])->release();
        } elseif ($command === 'race') {
            $answer = race($store, $referee, $key, $first, $second);
        } else {
            $answer = "error $command is unknown";
        }
    } catch (Throwable $error) {
        $answer = 'error ' . strtr($error->getMessage(), "\n", ' ');
    }
    echo "$answer\n";
}
