# make and a compiler, which start their processes with vfork, over and over.
. ../programs/tool.sh
cat > Makefile <<'MAKE'
program: one.o two.o
	cc -o $@ $^
%.o: %.c
	cc -c -o $@ $<
MAKE
echo 'int two(void); int main(void) { return two(); }' > one.c
build() {
  turn=$(((turn + 1) % 100))
  echo "int two(void) { return $turn; }" > two.c
  rm -f ./*.o program
  make -sj2 > made 2> errors || notice "make: $(tail -1 errors)"
  ./program
  same 'what the program returns' $turn $?
  sleep 0.3
}
turn=0
over_and_over build
