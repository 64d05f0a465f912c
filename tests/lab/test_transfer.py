"""Whole files pass unharmed: uploads go through penstock, downloads come back directly."""

from penstock_lab import backends, traffic
from penstock_lab.settings import URL_4IN4, URL_4IN6, URL_6IN4, URL_6IN6


def check_download(lab, url):
    problem = traffic.download(lab.settings, url)
    assert not problem, problem


def check_upload(lab, url):
    try:
        process = traffic.start_upload(lab.settings, url, "transfer")
        _, problem = traffic.finish_upload(lab.settings, process, "transfer")
        assert not problem, problem
    finally:
        backends.forget_uploads(lab.settings)


def test_download_v4(lab):
    """50 MB come down intact over IPv4"""
    check_download(lab, URL_4IN4)


def test_download_v6(lab):
    """50 MB come down intact over IPv6"""
    check_download(lab, URL_6IN6)


def test_upload_v4(lab):
    """50 MB in full-sized packets go up intact, IPv4 in IPv4"""
    check_upload(lab, URL_4IN4)


def test_upload_v6(lab):
    """50 MB in full-sized packets go up intact, IPv6 in IPv6"""
    check_upload(lab, URL_6IN6)


def test_upload_4in6(lab):
    """50 MB in full-sized packets go up intact, IPv4 in IPv6"""
    check_upload(lab, URL_4IN6)


def test_upload_6in4(lab):
    """50 MB in full-sized packets go up intact, IPv6 in IPv4"""
    check_upload(lab, URL_6IN4)
