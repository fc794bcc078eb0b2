/** Part of the Python session: a figure of matplotlib as data, in the words of E2B's clients. */
export const pythonCharts = `
def plain_value(value):
    if hasattr(value, 'item'): value = value.item()
    if hasattr(value, 'isoformat'): return value.isoformat()
    return value if isinstance(value, (int, float, str, bool)) or value is None else str(value)

def points_of(xs, ys):
    return [[plain_value(x), plain_value(y)] for x, y in zip(xs, ys)]

def label_of(artist, number, kind='Line'):
    label = str(artist.get_label() or '')
    return '%s %d' % (kind, number) if label.startswith('_') or not label else label

def tick_name(axis, place, number):
    """What stands nearest to a place on an axis, if anything does."""
    ticks = [(abs(tick - place), label.get_text()) for tick, label in zip(axis.get_ticklocs(), axis.get_ticklabels())]
    near = min(ticks, default=(1, ''))
    return near[1] if near[0] < 0.5 and near[1] else str(number + 1)

def bars_of(axes, group, name):
    is_upright = getattr(group, 'orientation', 'vertical') != 'horizontal'
    for number, bar in enumerate(group.patches):
        middle = bar.get_x() + bar.get_width() / 2 if is_upright else bar.get_y() + bar.get_height() / 2
        value = bar.get_height() if is_upright else bar.get_width()
        axis = axes.xaxis if is_upright else axes.yaxis
        yield {'label': tick_name(axis, middle, number), 'group': name, 'value': plain_value(value)}

def boxes_of(axes):
    """A box plot is lines: a closed one for each box, flat ones for its median and ends, and marks for outliers."""
    lines = [(l, list(map(float, l.get_xdata())), list(map(float, l.get_ydata()))) for l in axes.lines]
    found = []
    for _, xs, ys in lines:
        if len(xs) != 5 or (xs[0], ys[0]) != (xs[-1], ys[-1]): continue
        left, right, middle = min(xs), max(xs), (min(xs) + max(xs)) / 2
        flat = [(max(x) - min(x), y[0]) for l, x, y in lines
                if len(x) == 2 and y[0] == y[1] and left <= min(x) and max(x) <= right]
        if len(flat) < 3: continue
        ends = [y for _, y in flat]
        outliers = [v for l, x, y in lines if l.get_linestyle() == 'None' for u, v in zip(x, y) if u == middle]
        found.append({'label': tick_name(axes.xaxis, middle, len(found)), 'min': min(ends), 'first_quartile': min(ys),
                      'median': max(flat)[1], 'third_quartile': max(ys), 'max': max(ends), 'outliers': outliers})
    return found

def axes_chart(axes):
    """One plot: pie, bar, box, line or scatter, whichever its parts are."""
    base = {'title': axes.get_title() or None}
    wedges = [p for p in axes.patches if type(p).__name__ == 'Wedge']
    if wedges:
        return {**base, 'type': 'pie', 'elements': [
            {'label': p.get_label(), 'angle': abs(p.theta2 - p.theta1), 'radius': p.r} for p in wedges]}
    base.update({'x_label': axes.get_xlabel() or None, 'y_label': axes.get_ylabel() or None,
                 'x_unit': None, 'y_unit': None})
    scales = {'x_scale': axes.get_xscale(), 'y_scale': axes.get_yscale(),
              'x_ticks': [plain_value(t) for t in axes.get_xticks()],
              'y_ticks': [plain_value(t) for t in axes.get_yticks()],
              'x_tick_labels': [t.get_text() for t in axes.get_xticklabels()],
              'y_tick_labels': [t.get_text() for t in axes.get_yticklabels()]}
    groups = [c for c in axes.containers if type(c).__name__ == 'BarContainer']
    if groups:
        return {**base, 'type': 'bar', 'elements': [
            bar for i, group in enumerate(groups) for bar in bars_of(axes, group, label_of(group, i + 1, 'Group'))]}
    boxes = boxes_of(axes)
    if boxes:
        return {**base, 'type': 'box_and_whisker', 'elements': boxes}
    if axes.lines:
        return {**base, **scales, 'type': 'line', 'elements': [
            {'label': label_of(l, i + 1), 'points': points_of(l.get_xdata(), l.get_ydata())}
            for i, l in enumerate(axes.lines)]}
    if axes.collections:
        return {**base, **scales, 'type': 'scatter', 'elements': [
            {'label': label_of(c, i + 1), 'points': points_of(*zip(*c.get_offsets()))}
            for i, c in enumerate(axes.collections) if len(c.get_offsets())]}
    return {**base, 'type': 'unknown', 'elements': []}

def chart_of(figure):
    try: charts = [axes_chart(axes) for axes in figure.axes]
    except Exception: return None
    if not charts: return None
    return charts[0] if len(charts) == 1 else {'type': 'superchart', 'title': None, 'elements': charts}
`
