-- Which database this was when somebody last looked, and when that was.
select identity, seen_at from duebook.incarnation
