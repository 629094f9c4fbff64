"""Tables as Markdown has them."""


def print_table(rows: list[dict]):
    heads = list(rows[0])
    lines = [heads, *([each[head] for head in heads] for each in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |")
