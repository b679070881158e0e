// A program that takes locks with redsync or bsm/redislock. Arguments: library, ports of the servers, port of the referee. The lines that it
// reads are those of ../program.ts.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	goredisPool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"
)

var background = context.Background()

type hold interface {
	renew(ttl time.Duration) bool
	release()
}

// Gives nil where somebody else has the lock.
type take func(key string, ttl, wait time.Duration) (hold, error)

type redsyncHold struct{ mutex *redsync.Mutex }

func (h redsyncHold) renew(time.Duration) bool {
	renewed, _ := h.mutex.Extend()
	return renewed
}

func (h redsyncHold) release() { _, _ = h.mutex.Unlock() }

func withRedsync(clients []*goredis.Client) take {
	pools := []redis.Pool{}
	for _, client := range clients {
		pools = append(pools, goredisPool.NewPool(client))
	}
	locks := redsync.New(pools...)
	return func(key string, ttl, wait time.Duration) (hold, error) {
		mutex := locks.NewMutex(key, redsync.WithExpiry(ttl), redsync.WithTries(1_000))
		if wait == 0 {
			return found(redsyncHold{mutex}, mutex.TryLock())
		}
		within, cancel := context.WithTimeout(background, wait)
		defer cancel()
		return found(redsyncHold{mutex}, mutex.LockContext(within))
	}
}

type bsmHold struct{ lock *redislock.Lock }

func (h bsmHold) renew(ttl time.Duration) bool { return h.lock.Refresh(background, ttl, nil) == nil }

func (h bsmHold) release() { _ = h.lock.Release(background) }

func withBsm(clients []*goredis.Client) take {
	locks := redislock.New(clients[0])
	return func(key string, ttl, wait time.Duration) (hold, error) {
		if wait == 0 {
			lock, err := locks.Obtain(background, key, ttl, nil)
			return found(bsmHold{lock}, err)
		}
		within, cancel := context.WithTimeout(background, wait)
		defer cancel()
		pause := redislock.LinearBackoff(100 * time.Millisecond)
		lock, err := locks.Obtain(within, key, ttl, &redislock.Options{RetryStrategy: pause})
		return found(bsmHold{lock}, err)
	}
}

func found(held hold, err error) (hold, error) {
	var taken *redsync.ErrTaken
	refused := errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) || errors.Is(err, redislock.ErrNotObtained) ||
		errors.Is(err, context.DeadlineExceeded)
	if refused {
		return nil, nil
	}
	return held, err
}

// Sections for so long, each checked by a counter of another server.
func race(takes take, referee *goredis.Client, key string, ttl, during time.Duration) (served, overlaps int) {
	for end := time.Now().Add(during); time.Now().Before(end); {
		held, err := takes(key, ttl, during)
		if held == nil || err != nil {
			continue
		}
		began := time.Now()
		if referee.Incr(background, key).Val() != 1 {
			overlaps++
		}
		time.Sleep(2 * time.Millisecond)
		referee.Decr(background, key)
		held.release()
		served++
		time.Sleep(time.Duration(rand.Float64() * 20 * float64(time.Since(began))))
	}
	return served, overlaps
}

func clientOf(port string) *goredis.Client {
	return goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:" + port})
}

func answer(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func main() {
	clients := []*goredis.Client{}
	for _, port := range strings.Split(os.Args[2], ",") {
		clients = append(clients, clientOf(port))
	}
	referee := clientOf(os.Args[3])
	takes := map[string]func([]*goredis.Client) take{"redsync": withRedsync, "bsm": withBsm}[os.Args[1]](clients)
	holds := map[string][]hold{}
	lines := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	for lines.Scan() {
		words := strings.Split(lines.Text(), " ")
		key := words[1]
		ms := func(at int) time.Duration {
			number, _ := strconv.Atoi(words[at])
			return time.Duration(number) * time.Millisecond
		}
		mine := holds[key]
		switch words[0] {
		case "take":
			held, err := takes(key, ms(2), ms(3))
			if err != nil {
				fmt.Println("error " + err.Error())
				continue
			}
			if held != nil {
				holds[key] = append(mine, held)
			}
			fmt.Println(answer(held != nil))
		case "renew":
			fmt.Println(answer(mine[len(mine)-1].renew(ms(2))))
		case "release":
			mine[len(mine)-1].release()
			holds[key] = mine[:len(mine)-1]
			fmt.Println("yes")
		case "race":
			served, overlaps := race(takes, referee, key, ms(2), ms(3))
			fmt.Printf("%d %d\n", served, overlaps)
		}
	}
}
