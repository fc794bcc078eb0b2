# Sorts the data in place, by insertion. Prints how many comparisons it took, and the mode it ran in.
import os

items = [int(line) for line in open("data")]
count = 0
for end in range(1, len(items)):
    place = end
    while place > 0:
        count += 1
        if items[place - 1] <= items[place]:
            break
        items[place - 1], items[place] = items[place], items[place - 1]
        place -= 1
assert items == sorted(items)
with open("data", "w") as file:
    print(*items, sep="\n", file=file)
print(count, os.environ.get("MODE"))
