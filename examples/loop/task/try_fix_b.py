# Sorts the data in place, by merging. Prints how many comparisons it took, and the mode it ran in. On data that
# another fix has sorted already, it would count fewer.
import functools
import os

count = 0


def compare(one: int, other: int) -> int:
    global count
    count += 1
    return one - other


items = [int(line) for line in open("data")]
items.sort(key=functools.cmp_to_key(compare))
with open("data", "w") as file:
    print(*items, sep="\n", file=file)
print(count, os.environ.get("MODE"))
