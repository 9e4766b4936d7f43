package shop;

import jakarta.ejb.EJB;
import jakarta.ejb.EJBException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Answers with the sum of an order, or with the exception of a bean. */
@WebServlet("/total")
public class Counter extends HttpServlet {
    @EJB private Orders orders;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain");
        int goods = Integer.parseInt(request.getParameter("goods"));
        try {
            response.getWriter().println(orders.total(goods));
        } catch (EJBException e) {
            response.getWriter().println(e.getCausedByException().getMessage());
        }
    }
}
