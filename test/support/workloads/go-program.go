// Holds state in goroutines, channels and a heap that is constantly collected; verifies it on
// demand. Lines: check, mark WORD, marks, say TEXT.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

const workers = 50

var ticks, collected int64

// Each adds what comes in to a sum that only it has.
func worker(in <-chan int, out chan<- int) {
	sum := 0
	for n := range in {
		sum += n
		out <- sum
	}
}

func churn() {
	for {
		garbage := make([][]byte, 100)
		for i := range garbage {
			garbage[i] = make([]byte, 4096)
		}
		runtime.GC()
		atomic.AddInt64(&collected, 1)
		time.Sleep(20 * time.Millisecond)
	}
}

func waitForMore(counter *int64) bool {
	before := atomic.LoadInt64(counter)
	for i := 0; i < 500; i++ {
		if atomic.LoadInt64(counter) > before {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func main() {
	heap := map[int]string{}
	for i := 0; i < 20000; i++ {
		heap[i] = fmt.Sprint("value ", i)
	}
	var ins []chan int
	var outs []chan int
	for i := 0; i < workers; i++ {
		in, out := make(chan int), make(chan int)
		go worker(in, out)
		in <- i
		<-out
		ins, outs = append(ins, in), append(outs, out)
	}
	queued := make(chan string, 8)
	queued <- "first"
	queued <- "second"
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			atomic.AddInt64(&ticks, 1)
		}
	}()
	go churn()

	check := func() string {
		for i := range ins {
			ins[i] <- 0
			if sum := <-outs[i]; sum != i {
				return fmt.Sprintf("goroutine %d has %d", i, sum)
			}
		}
		for i := 0; i < 20000; i++ {
			if heap[i] != fmt.Sprint("value ", i) {
				return fmt.Sprintf("heap %d is %q", i, heap[i])
			}
		}
		if first, second := <-queued, <-queued; first != "first" || second != "second" {
			return "channel has " + first + " " + second
		}
		queued <- "first"
		queued <- "second"
		if !waitForMore(&ticks) {
			return "ticker stands still"
		}
		if !waitForMore(&collected) {
			return "collector stands still"
		}
		return "OK"
	}

	var marks []string
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "check":
			fmt.Println(check())
		case "mark":
			marks = append(marks, rest)
		case "marks":
			fmt.Println(strings.Join(marks, " "))
		case "say":
			fmt.Println(rest)
		}
	}
}
