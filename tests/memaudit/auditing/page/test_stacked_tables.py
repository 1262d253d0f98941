"""Every cell of a table carries the name of its column."""

from memaudit.auditing.page.stacked_tables import labelled

HEAD = '<thead><tr><th scope="col">Name</th><th\n scope="col" class="number">A &amp; "B"</th>'
HEAD += '<th scope="col"><span\n aria-hidden="true">0 to 1</span></th></tr></thead>'


def test_cells_get_the_header_of_their_column():
    table = f'<table>{HEAD}<tbody><tr><th scope="row">x</th><td class="number">1</td><td>2</td></tr></tbody></table>'
    made = labelled(f"<p>before</p>{table}")
    assert '<th scope="row">x</th>' in made
    assert '<td data-label="A &amp; &#34;B&#34;" class="number">1</td>' in made
    assert '<td data-label="">2</td>' in made  # a drawing: its axis is no name
    assert made.startswith("<p>before</p>")


def test_every_row_starts_anew():
    rows = '<tr><th scope="row">x</th><td>1</td><td>2</td></tr>' * 2
    made = labelled(f"<table>{HEAD}<tbody>{rows}</tbody></table>")
    assert made.count('data-label="A &amp;') == 2


def test_a_single_value_needs_no_label():
    table = '<table><thead><tr><th scope="col">What</th><th scope="col">Value</th></tr></thead><tbody><tr><th '
    table += 'scope="row">x</th><td>1</td></tr></tbody></table>'
    assert labelled(table) == table
