from desk.agent import desk


def test_the_desk_has_its_tools():
    assert [tool.name for tool in desk.tools] == ["search_books", "find_shelf", "list_loans", "extend_loan"]
