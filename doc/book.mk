## doc/book.mk: the book: `make html` is the site in doc/html, `make pdf` one file for print.
##
##   doc/en/NN-x.md --facts--> doc/book/en/NN-x.lua --+--book--> doc/book/en/book.lua
##        |                                           |                |
##        +-------------------------------------------+------page------+--> doc/html/en/NN-x.html
##
## - A chapter is one more file in doc/en; nothing here names it.
## - doc/weave.lua does all of it, inside pandoc; what is wrong in any chapter stops the build.
## - make html draft=yes tells problems and goes on.
## - A page is made again when its chapter, the facts of another one, or a source changes.

lang = en
draft = no
chapters = $(patsubst $(srcdir)/doc/$(lang)/%.md,%,$(wildcard $(srcdir)/doc/$(lang)/*.md))
pages = $(chapters) reference
weave_parts = $(wildcard $(srcdir)/doc/weave/*) $(srcdir)/doc/weave.lua
facts = doc/book/$(lang)
site = doc/html/$(lang)

weave = KATEX='$(KATEX)' NODE='$(NODE)' $(PANDOC) --from markdown-implicit_figures$(smart) \
	--columns 300 --lua-filter $(srcdir)/doc/weave.lua \
	-M root=$(srcdir) -M build=doc/book -M lang=$(lang) -M draft=$(draft) -M site=$(site)
weave_page = $(weave) -M mode=page --to html5 --template $(srcdir)/doc/weave/page.html \
	--syntax-definition $(srcdir)/doc/weave/repl.xml --citeproc -M link-citations=true \
	--bibliography $(srcdir)/doc/references.bib --lua-filter $(srcdir)/doc/weave/cited.lua

## What each chapter has, then all of it together. A file that would be the same stays as it is.
## The reference, which the program writes, has quotes and hyphens of code.
take_facts = $(AM_V_GEN)$(MKDIR_P) $(facts) doc/book/katex && \
	$(weave) -M mode=facts -t plain -o /dev/null $< && touch $@
$(facts)/reference.stamp $(site)/reference.html: smart = -smart
manifests = $(wildcard $(srcdir)/exercises/*/exercise.lua)
$(facts)/%.stamp: $(srcdir)/doc/$(lang)/%.md $(srcdir)/doc/references.bib $(weave_parts) \
	$(manifests)
	$(take_facts)
$(facts)/reference.stamp: doc/reference.md $(weave_parts)
	$(take_facts)
$(facts)/book.lua: $(pages:%=$(facts)/%.stamp) always
	$(AM_V_at)$(weave) -M mode=book -M chapters='$(pages)' -t plain -o /dev/null /dev/null
always:
-include $(pages:%=$(facts)/%.d)

## Pages, figures and what they need beside them. A script of a figure that returns something is
## a part of others.
write_page = $(AM_V_GEN)$(MKDIR_P) $(site) && $(weave_page) -o $@.tmp $< && mv -f $@.tmp $@
page_needs = $(manifests) $(facts)/book.lua $(weave_parts) $(srcdir)/doc/references.bib
$(site)/%.html: $(srcdir)/doc/$(lang)/%.md $(page_needs)
	$(write_page)
$(site)/reference.html: doc/reference.md $(page_needs)
	$(write_page)
figure_scripts = $(wildcard $(srcdir)/doc/figures/*.lua)
figure_parts = $(shell grep -l '^return ' $(figure_scripts) /dev/null)
figures = $(patsubst $(srcdir)/doc/figures/%.lua,%,$(filter-out $(figure_parts),$(figure_scripts)))
$(site)/figures/%.svg: $(srcdir)/doc/figures/%.lua $(figure_parts) | tarn$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) $(site)/figures && ./tarn$(EXEEXT) --no-init $< $@.tmp.svg && \
	mv -f $@.tmp.svg $@
doc/html/assets/%.css: $(srcdir)/doc/weave/%.css
	$(AM_V_GEN)$(MKDIR_P) doc/html/assets && cp -f $< $@
doc/html/assets/katex.min.css: $(KATEX)/katex.min.css
	$(AM_V_GEN)$(MKDIR_P) doc/html/assets/fonts && \
	cp -f $(KATEX)/fonts/*.woff2 doc/html/assets/fonts && \
	$(SED) "s/,url([^)]*) format(.\(woff\|truetype\).)//g" $< >$@.tmp && mv -f $@.tmp $@

site_files = $(pages:%=$(site)/%.html) $(figures:%=$(site)/figures/%.svg) \
	doc/html/assets/book.css doc/html/assets/katex.min.css

## All pages as one, then as PDF.
$(facts)/paper.html: $(site_files) doc/html/assets/paper.css
	$(AM_V_GEN)$(weave) -M mode=paper --to html5 -o $@.tmp \
	--template $(srcdir)/doc/weave/paper.html /dev/null && mv -f $@.tmp $@
doc/tarn-book.pdf: $(facts)/paper.html
	$(AM_V_GEN)$(WEASYPRINT) --base-url $(site)/ $< $@.tmp 2>$@.log && \
	! grep '^ERROR' $@.log >&2 && mv -f $@.tmp $@

if WITH_BOOK
## Pages of chapters that are gone go too.
html-local: $(site_files)
	@rm -f $(filter-out $(pages:%=$(site)/%.html),$(wildcard $(site)/*.html))
	@echo "the book: $(abs_builddir)/$(site)/index.html"
else
html-local:
	@echo 'the book needs pandoc, KaTeX (Debian: katex) and tarn; see what configure says' >&2; exit 1
endif
if WITH_PAPER
pdf-local: doc/tarn-book.pdf
	@echo "the book: $(abs_builddir)/doc/tarn-book.pdf"
else
pdf-local:
	@echo 'the PDF needs WeasyPrint beside what make html needs; see what configure says' >&2; exit 1
endif

## Where documents go; uninstall takes them away again.
installed_book = $(DESTDIR)$(htmldir)/book
install-html-local: html-local
	$(MKDIR_P) '$(installed_book)' && cp -R doc/html/. '$(installed_book)'
uninstall-hook:
	rm -rf '$(installed_book)'
clean-book:
	rm -rf doc/html doc/book doc/tarn-book.pdf doc/tarn-book.pdf.*
.PHONY: always clean-book
