# Writes 600 numbers in an order that looks random and is always the same.
numbers, number = [], 1
for _ in range(600):
    number = number * 48271 % 2147483647
    numbers.append(number)
with open("data", "w") as file:
    print(*numbers, sep="\n", file=file)
