// Constantly allocates, frees and checks; argument: where to report.
// The report holds "rounds N", or "stale ..." and then the program has ended.
package main

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"runtime/debug"
	"time"
)

type node struct {
	number int
	text   string
	next   *node
}

func report(text string) {
	path := os.Args[1]
	if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o644); err != nil {
		panic(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		panic(err)
	}
}

func check(ok bool, what string) {
	if !ok {
		report("stale " + what)
		os.Exit(1)
	}
}

var zeros = make([]byte, 1<<20)
var blocks = map[int][]byte{}
var lasting = map[int]string{}

func work(round int) {
	for i := 0; i < 60; i++ {
		size := 1 + rand.Intn(4000)
		if i%3 == 0 {
			size = 1 + rand.Intn(1<<20)
		}
		block := make([]byte, size)
		check(bytes.Equal(block, zeros[:size]), "bytes of zeros")
		for k := range block {
			block[k] = byte(i)
		}
		blocks[i] = block
		pointers := make([]*node, rand.Intn(5000))
		for _, pointer := range pointers {
			check(pointer == nil, "a slice of nothing")
		}
	}
	for i, block := range blocks {
		check(bytes.Count(block, []byte{byte(i)}) == len(block), "a block")
	}
	var list *node
	for i := 0; i < 20000; i++ {
		list = &node{i, fmt.Sprint("node ", i), list}
	}
	for i := 19999; i >= 0; i-- {
		check(list.number == i && list.text == fmt.Sprint("node ", i), "a node")
		list = list.next
	}
	for i, text := range lasting {
		check(text == fmt.Sprint("value ", i), "a value")
	}
	done := make(chan int)
	for i := 0; i < 50; i++ {
		go func(n int) {
			var deep [20000]byte
			deep[n] = byte(n)
			done <- int(deep[n])
		}(i)
	}
	sum := 0
	for i := 0; i < 50; i++ {
		sum += <-done
	}
	check(sum == 49*50/2, "goroutines")
	if round%2 == 0 {
		blocks = map[int][]byte{}
	}
	debug.FreeOSMemory()
}

func main() {
	for i := 0; i < 20000; i++ {
		lasting[i] = fmt.Sprint("value ", i)
	}
	for round := 0; ; round++ {
		began := time.Now()
		work(round)
		report(fmt.Sprint("rounds ", round+1))
		// Many of these run at the same time: none takes more than a tenth of a core.
		pause := 9 * time.Since(began)
		if pause > 2*time.Second {
			pause = 2 * time.Second
		}
		time.Sleep(pause)
	}
}
